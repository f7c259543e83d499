"""Documents, blocks, block versions, snapshots; the framework of imports."""
