// Words of names: parameters, members of results, and tools.

/** `repoPath`, `repo_path` and `repo-path` are the words repo and path. */
export function splitName(name: string): readonly string[] {
  return name
    .replaceAll(/([a-z\d])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z\d]+/)
    .filter((word) => word !== '');
}

export function toSingular(word: string): string {
  if (/(?:ss|us|is)$/.test(word)) return word;
  return word
    .replace(/(shel|lea|hal|wol)ves$/, '$1f')
    .replace(/ies$/, 'y')
    .replace(/(ch|sh|x|ss)es$/, '$1')
    .replace(/s$/, '');
}

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '));

// Of other languages, only the verbs that the names of tools begin or end with.
const LISTING = words(
  'list search find show browse enumerate ls all overview dump lister auflisten anzeigen suchen listar mostrar buscar chercher afficher',
);
const CREATING = words(
  'ajouter creer anlegen hinzufuegen erstellen agregar crear adicionar criar create add new insert save register init initialize start open import put write store make set upload begin clone plan record generate remember',
);
const REMOVING = words(
  'supprimer loeschen entfernen eliminar borrar remover delete remove clear reset drop purge kill stop close end shutdown destroy cancel archive uninstall forget unset truncate prune terminate',
);
const CHANGING = words(
  'modifier aendern setzen actualizar cambiar echanger update edit modify change move rename append replace patch execute exec run apply complete merge split toggle mark copy assign link unlink verify',
);
const READING = words(
  'lire voir lesen ver obtener leer get read fetch query describe view load check count export inspect tree info status stat lookup',
);

/** The verb of a tool's name, by its first word that is a known verb. */
export type ToolKind = 'lists' | 'creates' | 'reads' | 'changes' | 'removes' | 'other';

export function kindOfTool(name: string): ToolKind {
  for (const word of splitName(name)) {
    if (LISTING.has(word)) return 'lists';
    if (REMOVING.has(word)) return 'removes';
    if (CREATING.has(word)) return 'creates';
    if (CHANGING.has(word)) return 'changes';
    if (READING.has(word)) return 'reads';
  }
  return 'other';
}

const isVerb = (word: string): boolean =>
  [LISTING, REMOVING, CREATING, CHANGING, READING].some((set) => set.has(word));
const FILLERS = words('by for of in from to with and the a an all my mcp tool');

/** What a tool is about: `obsidian_list_vaults` → vault, `get_task_by_id` → task. */
export function nounsOfTool(name: string): readonly string[] {
  const all = splitName(name);
  const verb = all.findIndex(isVerb);
  const after = all.slice(verb + 1);
  const end = after.findIndex((word) => FILLERS.has(word));
  const object = end > 0 ? after.slice(0, end) : after.filter((word) => !FILLERS.has(word));
  const before = all.slice(0, Math.max(verb, 0)).filter((word) => !FILLERS.has(word) && !isVerb(word));
  const nouns = object.length > 0 ? object : before;
  const last = nouns.at(-1);
  if (last === undefined) return [];
  const whole = [...nouns.slice(0, -1), toSingular(last)].join('_');
  return [...new Set([whole, toSingular(last), ...before.map(toSingular)])];
}
