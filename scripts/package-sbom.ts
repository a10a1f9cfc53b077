/** The parts of a CycloneDX document that `npm sbom` writes and this module reads. */
export interface Sbom {
  readonly metadata: { readonly component: SbomComponent };
  readonly components: readonly SbomComponent[];
  readonly dependencies: readonly SbomDependencies[];
}

interface SbomComponent {
  readonly 'bom-ref': string;
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly scope?: string;
  readonly properties?: readonly SbomProperty[];
}

interface SbomProperty {
  readonly name: string;
  readonly value: string;
}

interface SbomDependencies {
  readonly ref: string;
  readonly dependsOn: readonly string[];
}

/** A published package, and what is in it. */
export interface PublishedPackage {
  readonly name: string;
  readonly version: string;
  /** Names of the packages that npm installs with it. */
  readonly dependencies: readonly string[];
  /** `name@version` of each package whose code is in its files. */
  readonly bundled: readonly string[];
}

/**
 * The part of the SBOM of the whole lock file that a user of one package gets: what npm installs with it, and what is bundled
 * into it. npm knows bundled packages only as development dependencies. Throws if one is not in the lock file.
 */
export function selectSbom(all: Sbom, published: PublishedPackage): Sbom {
  const components = new Map([all.metadata.component, ...all.components].map((one) => [one['bom-ref'], one]));
  const edges = new Map(all.dependencies.map(({ ref, dependsOn }) => [ref, dependsOn]));
  const ref = `${published.name}@${published.version}`;
  const own = components.get(ref);
  if (own === undefined) throw new Error(`${ref} is not in the lock file`);
  const lacking = published.bundled.filter((one) => !components.has(one));
  if (lacking.length > 0) throw new Error(`bundled, but not in the lock file: ${lacking.join(', ')}`);

  const names = new Set(published.dependencies);
  const direct = (edges.get(ref) ?? []).filter((one) => names.has(components.get(one)?.name ?? ''));
  const installed = new Set(direct);
  for (const one of installed) for (const next of edges.get(one) ?? []) installed.add(next);
  const bundled = published.bundled.filter((one) => !installed.has(one)).toSorted();
  return {
    ...all,
    metadata: { ...all.metadata, component: { ...own, name: published.name } },
    components: [
      ...all.components.filter((one) => installed.has(one['bom-ref'])).map(asInstalled),
      ...bundled.flatMap((one) => components.get(one) ?? []).map(asBundled),
    ],
    dependencies: [
      { ref, dependsOn: [...direct, ...bundled] },
      ...[...installed].map((one) => ({ ref: one, dependsOn: edges.get(one) ?? [] })),
      ...bundled.map((one) => ({ ref: one, dependsOn: [] })),
    ],
  };
}

const DEVELOPMENT = 'cdx:npm:package:development';

function asInstalled(component: SbomComponent): SbomComponent {
  return { ...component, properties: withoutDevelopment(component) };
}

/** https://github.com/CycloneDX/cyclonedx-property-taxonomy/blob/main/cdx/npm.md */
function asBundled(component: SbomComponent): SbomComponent {
  const properties = [...withoutDevelopment(component), { name: 'cdx:npm:package:bundled', value: 'true' }];
  return { ...component, scope: 'required', properties };
}

function withoutDevelopment({ properties = [] }: SbomComponent): readonly SbomProperty[] {
  return properties.filter(({ name }) => name !== DEVELOPMENT);
}
