/** Whether a peer declares more of a capability than that it has it: `resources: { subscribe: true }`. */
export function declares(
  capabilities: Readonly<Record<string, unknown>>,
  capability: string,
  member: string,
): boolean {
  const value = capabilities[capability];
  if (typeof value !== 'object' || value === null) return false;
  return (value as Readonly<Record<string, unknown>>)[member] === true;
}
