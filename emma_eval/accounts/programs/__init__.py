"""What programs come in by: tokens with scopes, their limits, errors that a program can read, one kind of view.

The rooms above put their endpoints on it, each in a file of its own; `emma_eval/api.py` puts those together.
"""
