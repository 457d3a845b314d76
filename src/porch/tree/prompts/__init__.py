"""What an agent of a tree is asked, and how it has to answer."""
