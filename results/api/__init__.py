"""What programs do with results: the same as people on the pages, by the same rules.

A room's endpoints stand in one module here, a `ProgramView` for each address; `urls.py` puts them together. What an
endpoint reads is a `Body`, whose faults are those of the room's own rules; what it answers is plain dictionaries, made
of rows that were read with as many queries as there are tables, however many rows.
"""
