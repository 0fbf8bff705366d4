"""Which scripts should be run on a build, by when, and which were."""
