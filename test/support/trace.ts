/** A trace started by Assay: version 00, random ids, not sampled. */
export const NEW_TRACE: RegExp = /^00-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-00$/;

const MEMBER = /"_meta":\{"traceparent":"([^"]*)","progressToken":\d+\},?/;

/** What a server received of a call, without the `_meta` in which Assay started a trace and asked for progress. */
export function withoutTrace(received: string): string {
  const [member, traceparent] = MEMBER.exec(received) ?? [];
  if (member === undefined || traceparent === undefined || !NEW_TRACE.test(traceparent))
    throw new Error(`No trace was begun in ${received}`);
  return received.replace(member, '');
}
