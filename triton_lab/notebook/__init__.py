"""What a notebook needs beyond the API: cells with right line numbers, fresh kernels, clear errors."""
