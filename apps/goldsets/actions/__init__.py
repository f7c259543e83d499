"""Everything that writes gold sets: versions, their slices and public releases, training manifests, and the log of
exports and looks."""
