"""Pictures of protocols: one neutral picture, one layout, four ways to write it down."""
