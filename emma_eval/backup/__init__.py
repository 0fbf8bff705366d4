"""Everything of a site that can't be made again, in one archive: take it, prove it, put it back.

What is in it: the database, the recordings and the sheets that wait to be imported, the secret of this folder, the list
of what lies in the bucket, and a manifest of counts and checksums. What is not: exports, mails, the queue and
collected static files, which can be made again.
"""
