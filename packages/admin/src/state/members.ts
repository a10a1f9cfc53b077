import type { ToolsetMember } from '../../../gateway/src/api/toolset.ts';

/** A tool in the picker. */
export interface PickedTool {
  readonly namespacedName: string;
  readonly server: string;
}

type Members = readonly ToolsetMember[];

function ownName({ namespacedName, server }: PickedTool): string {
  return namespacedName.slice(server.length + 1);
}

export function findWholeServer(members: Members, server: string): ToolsetMember | undefined {
  return members.find(({ namespacedName }) => namespacedName === `${server}.*`);
}

/** Whether a tool is a member, by name or because its whole server is. */
export function createMembershipCheck(members: Members): (tool: PickedTool) => boolean {
  const named = new Map(members.map((member) => [member.namespacedName, member]));
  return (tool) => {
    if (named.has(tool.namespacedName)) return true;
    const whole = named.get(`${tool.server}.*`);
    return whole !== undefined && whole.except?.includes(ownName(tool)) !== true;
  };
}

/** Adds or removes a tool. If its whole server is a member, removing makes it an exception. */
export function setToolMembership(members: Members, tool: PickedTool, isWanted: boolean): Members {
  if (createMembershipCheck(members)(tool) === isWanted) return members;
  const whole = findWholeServer(members, tool.server);
  const others = members.filter(({ namespacedName }) => namespacedName !== tool.namespacedName);
  if (whole === undefined) return isWanted ? [...others, { namespacedName: tool.namespacedName }] : others;
  const name = ownName(tool);
  const left = (whole.except ?? []).filter((one) => one !== name);
  const except = isWanted ? left : [...left, name];
  return others.map((one) => (one === whole ? { ...whole, except } : one));
}

/** Adds all tools of a server, including later ones, or removes all of them. */
export function toggleServerMembership(
  members: Members,
  server: string,
  tools: readonly PickedTool[],
): Members {
  const names = new Set(tools.map(({ namespacedName }) => namespacedName));
  const isWhole = findWholeServer(members, server) !== undefined;
  const others = members.filter(
    ({ namespacedName }) => !names.has(namespacedName) && namespacedName !== `${server}.*`,
  );
  return isWhole ? others : [...others, { namespacedName: `${server}.*` }];
}

export function isSame(one: Members, other: Members): boolean {
  const text = (members: Members): string =>
    JSON.stringify(
      members
        .map(({ namespacedName, refId, except = [] }) => [namespacedName, refId ?? '', [...except].sort()])
        .sort((a, b) => (String(a[0]) < String(b[0]) ? -1 : 1)),
    );
  return text(one) === text(other);
}
