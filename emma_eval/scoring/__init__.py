"""Pure measures: no clock, no network, no framework. Anyone can run them."""
