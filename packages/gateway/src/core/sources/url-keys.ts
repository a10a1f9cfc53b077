/** Members of an entry that hold the URL of an MCP server. The last two are how Gemini CLI and Windsurf write it. */
export const URL_KEYS: readonly string[] = ['url', 'httpUrl', 'serverUrl'];
