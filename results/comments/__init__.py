"""What people say about a result: a thread under it, and who is told of it."""
