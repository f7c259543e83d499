"""Settings, addresses, the entry of the command line, `karat up`: wires everything together."""
