"""What a worker makes of what arrived: one file that plays, its waveform, who spoke when."""
