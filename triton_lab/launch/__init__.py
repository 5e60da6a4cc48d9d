"""What happened: recorded launches, their accesses, and what is wrong with them. Plain data.

It knows no pixel and no notebook: a method that opens a picture imports its view when it is called.
"""
