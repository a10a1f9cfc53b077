/** The features added one by one from a plain proxy towards Assay, in order. */
export const LADDER: readonly { readonly name: string; readonly about: string }[] = [
  { name: 'whole', about: 'bodies in one piece' },
  { name: 'scan', about: '+ both messages scanned' },
  { name: 'resolve', about: '+ the tool looked up' },
  { name: 'edit', about: '+ ids and names spliced' },
  { name: 'own-headers', about: '+ headers of its own' },
  { name: 'own-client', about: "+ Assay's HTTP client" },
];
