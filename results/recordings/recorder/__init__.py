"""A call recorded beside it, in the page: begun, taken in chunk by chunk, finished."""
