/** Whether this is `npm run test:long`, in which campaigns run at full length. `npm test` runs a short form of each. */
export const IS_LONG: boolean = process.env['ASSAY_TEST_LONG'] === 'true';

/** Number of rounds of a campaign. */
export function rounds({ short, long }: { readonly short: number; readonly long: number }): number {
  return IS_LONG ? long : short;
}
