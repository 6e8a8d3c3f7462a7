"""What can an agent do with a crawl?

agent_tools has the tools, each a function from a few values to a text; mcp_server offers them by the Model
Context Protocol, on the standard streams of `crawlctl mcp` or at `/mcp` of `crawlctl serve --mcp`.
"""
