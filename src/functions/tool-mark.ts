/** What defineTool leaves on its tools. One symbol for all copies of this package, as a module may bring its own. */
export const TOOL_MARK: symbol = Symbol.for('assay-mcp.tool');
