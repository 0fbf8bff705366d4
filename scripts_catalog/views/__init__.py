"""Pages of the catalogue: the tab and the script, writing scripts, files of scripts, builds, the Guide."""
