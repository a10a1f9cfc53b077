/** The version of the package; a test holds it equal to package.json. */
export const VERSION = '0.1.0';

/** The oldest Node that runs it; a test holds it equal to package.json and to what `main.ts` checks. */
export const LEAST_NODE = '22.19';

/** What Assay calls itself towards clients and servers. */
export const OWN_INFO: { readonly name: string; readonly title: string; readonly version: string } = {
  name: 'assay',
  title: 'Assay',
  version: VERSION,
};
