"""What happened: recorded launches, their accesses, and what is wrong with them. Plain data."""
