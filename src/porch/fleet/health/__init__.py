"""What is well and what is not: the machine, the repository, the project, the agents."""
