/** Whether a peer declares a member of a capability, such as `resources: { subscribe: true }`. */
export function declares(
  capabilities: Readonly<Record<string, unknown>>,
  capability: string,
  member: string,
): boolean {
  const value = capabilities[capability];
  if (typeof value !== 'object' || value === null) return false;
  return (value as Readonly<Record<string, unknown>>)[member] === true;
}
