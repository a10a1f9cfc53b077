/** Version of the package; a test keeps it equal to package.json. */
export const VERSION = '0.1.0';

/** Minimum Node version; a test keeps it equal to package.json and to the checks at startup. */
export const MIN_NODE_VERSION = '22.23';

/** How Assay identifies itself to clients and servers. */
export const OWN_INFO: { readonly name: string; readonly title: string; readonly version: string } = {
  name: 'assay',
  title: 'Assay',
  version: VERSION,
};
