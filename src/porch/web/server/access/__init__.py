"""Who may use the dashboard: browsers that came with a link, and no process of an agent."""
