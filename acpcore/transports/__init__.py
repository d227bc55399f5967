"""How bytes reach the peer: descriptors, stdio, a child process, sockets, memory.

What they have in common is in :mod:`acpcore.transports.base`.
"""
