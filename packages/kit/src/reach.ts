/**
 * The kind of network that an address belongs to. `metadata`: services that hand out credentials to cloud machines.
 * `reserved`: not the address of a single machine.
 */
export type Reach = 'public' | 'private' | 'loopback' | 'link-local' | 'metadata' | 'reserved';

/** Where a service that the operator named for Assay itself may be: anywhere but the metadata endpoint of a cloud. */
export const CHOSEN_BY_OPERATOR: ReadonlySet<Reach> = new Set([
  ...(['public', 'private', 'loopback', 'link-local', 'reserved'] as const),
]);
