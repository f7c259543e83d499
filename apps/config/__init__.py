"""Settings, URLs, the entry point of the command line, `karat up`: wires everything together."""
