import { expect, it } from 'vitest';
import { selectSbom, type Sbom } from '../scripts/package-sbom.ts';

const DEVELOPMENT = { name: 'cdx:npm:package:development', value: 'true' };

function component(ref: string, more: object = {}): Sbom['components'][number] {
  const [name = '', version = ''] = ref.split('@');
  return {
    'bom-ref': ref,
    name,
    version,
    purl: `pkg:npm/${ref}`,
    scope: 'required',
    properties: [],
    ...more,
  };
}

const ALL: Sbom = {
  metadata: { component: component('root@1.0.0', { name: 'folder' }) },
  components: [
    component('product@1.0.0'),
    component('installed@2.0.0'),
    component('its-part@3.0.0'),
    component('inlined@4.0.0', { scope: 'optional', properties: [DEVELOPMENT] }),
    component('inlined@5.0.0', { scope: 'optional', properties: [DEVELOPMENT] }),
    component('linter@6.0.0', { scope: 'optional', properties: [DEVELOPMENT] }),
  ],
  dependencies: [
    { ref: 'root@1.0.0', dependsOn: ['linter@6.0.0'] },
    { ref: 'product@1.0.0', dependsOn: ['installed@2.0.0', 'inlined@4.0.0'] },
    { ref: 'installed@2.0.0', dependsOn: ['its-part@3.0.0'] },
    { ref: 'its-part@3.0.0', dependsOn: ['installed@2.0.0'] },
    { ref: 'inlined@4.0.0', dependsOn: ['linter@6.0.0'] },
  ],
};

const PRODUCT = {
  name: 'product',
  version: '1.0.0',
  dependencies: ['installed'],
  bundled: ['inlined@4.0.0'],
};

it('the SBOM of a package lists what is installed with it and what is bundled into it, and nothing else', () => {
  const { metadata, components, dependencies } = selectSbom(ALL, PRODUCT);
  expect(metadata.component).toEqual(component('product@1.0.0'));
  expect(components).toEqual([
    component('installed@2.0.0'),
    component('its-part@3.0.0'),
    component('inlined@4.0.0', { properties: [{ name: 'cdx:npm:package:bundled', value: 'true' }] }),
  ]);
  expect(dependencies).toEqual([
    { ref: 'product@1.0.0', dependsOn: ['installed@2.0.0', 'inlined@4.0.0'] },
    { ref: 'installed@2.0.0', dependsOn: ['its-part@3.0.0'] },
    { ref: 'its-part@3.0.0', dependsOn: ['installed@2.0.0'] },
    { ref: 'inlined@4.0.0', dependsOn: [] },
  ]);
});

it('a package that is both installed and bundled is listed once, as installed', () => {
  const { components } = selectSbom(ALL, { ...PRODUCT, bundled: ['installed@2.0.0'] });
  expect(components.map((one) => one['bom-ref'])).toEqual(['installed@2.0.0', 'its-part@3.0.0']);
});

it('a bundled package that the lock file does not have is an error', () => {
  expect(() => selectSbom(ALL, { ...PRODUCT, bundled: ['inlined@4.0.1'] })).toThrow(
    'bundled, but not in the lock file: inlined@4.0.1',
  );
});
