// The tools that the echo peers list: `echo` first, then padding as large as real servers' tools.

const PAGE_SIZE = 1000;

const ECHO = {
  name: 'echo',
  title: 'Echo',
  description: 'Returns its message argument unchanged.',
  inputSchema: {
    type: 'object',
    properties: { message: { type: 'string', description: 'What to return.' } },
    required: ['message'],
  },
  annotations: {
    title: 'Echo',
    readOnlyHint: true,
    destructiveHint: false,
    idempotentHint: true,
    openWorldHint: false,
  },
};

const VERBS = ['list', 'get', 'create', 'update', 'archive', 'search', 'export', 'assign'] as const;
const NOUNS = ['issue', 'invoice', 'customer', 'deployment', 'comment', 'project', 'report'] as const;

/** The pages of a `tools/list`, each as the JSON text of its members, without the braces around them. */
export function catalogPages(toolCount: number): readonly string[] {
  const tools = Array.from({ length: toolCount }, (_, index) =>
    JSON.stringify(index === 0 ? ECHO : paddingTool(index)),
  );
  const pages: string[] = [];
  for (let from = 0; from < Math.max(1, tools.length); from += PAGE_SIZE) {
    const next = from + PAGE_SIZE;
    const cursor = next < tools.length ? `,"nextCursor":"${String(next)}"` : '';
    pages.push(`"tools":[${tools.slice(from, next).join(',')}]${cursor}`);
  }
  return pages;
}

/** Index of the page for a cursor of `catalogPages`; no cursor gives the first, an unknown one none. */
export function pageOfCursor(cursor: unknown): number {
  if (cursor === undefined) return 0;
  return Number(cursor) / PAGE_SIZE;
}

function paddingTool(index: number): object {
  const verb = VERBS[index % VERBS.length] ?? 'list';
  const noun = NOUNS[index % NOUNS.length] ?? 'issue';
  const isReading = verb === 'list' || verb === 'get' || verb === 'search';
  return {
    name: `${verb}_${noun}_${String(index)}`,
    title: `${verb} ${noun} (${String(index)})`,
    description:
      `Use this to ${verb} one ${noun} or several in workspace ${String(index)}. ` +
      'Answers with the identifier, the state and the time of the last change; ' +
      'asks for nothing that the caller did not name.',
    inputSchema: {
      type: 'object',
      properties: {
        id: { type: 'string', description: `Identifier of the ${noun}, as listed.` },
        limit: { type: 'integer', minimum: 1, maximum: 250, description: 'At most this many.' },
        state: { type: 'string', enum: ['open', 'closed', 'all'], description: 'Which state.' },
      },
      required: ['id'],
      additionalProperties: false,
    },
    annotations: {
      title: `${verb} ${noun}`,
      readOnlyHint: isReading,
      destructiveHint: verb === 'archive',
      idempotentHint: isReading || verb === 'update',
      openWorldHint: true,
    },
  };
}
