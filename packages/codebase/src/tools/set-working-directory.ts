import { z } from 'zod';
import { ok } from '@assay-mcp/kit/result';
import type { ConfiguredProject } from '../projects/project-config.ts';
import { resolveAllowedDirectory } from './directory-argument.ts';
import { type CodebaseTool, createCodebaseTool } from './tool.ts';
import type { ToolDeps } from './tool-deps.ts';

interface Input {
  readonly directory: string;
}

const INPUT: z.ZodType<Input> = z.strictObject({
  directory: z
    .string('It must be a string')
    .max(4_096, 'It must have at most 4096 characters')
    .describe('Absolute path of an existing directory, usually the root of the repository you work in.'),
});

const OUTPUT = z.object({
  session_id: z.string().nullable().describe('Null if this connection keeps nothing between calls.'),
  working_directory: z.string(),
  config_found: z.boolean(),
  config_path: z.string().nullable(),
  project_info: z
    .object({ name: z.string(), id: z.string().nullable().describe('As the config file gives it.') })
    .nullable()
    .describe('Null without a config file, or if it is invalid.'),
  project_id: z.string().nullable().describe('Pass this as project_id where no directory is kept.'),
  config_error: z.string().nullable(),
});

export function createSetDirectoryTool({ configs, access, session }: ToolDeps): CodebaseTool {
  return createCodebaseTool<Input>({
    name: 'set_working_directory',
    description:
      'Selects the project of the following calls: that of the nearest .codebase-mcp/config.json in this directory ' +
      'or above it (at most 20 levels). Call it once before you work in a repository that has such a file. It only ' +
      'sets a value in this session, so repeating it with the same directory is safe.',
    annotations: {
      title: 'Set the working directory',
      // It changes the session: later calls without a project_id use another project.
      readOnlyHint: false,
      // It replaces one value, which another call can restore. No file, index or repository is touched.
      destructiveHint: false,
      // The last call wins. The same directory twice leaves the same session as once.
      idempotentHint: true,
      // It reads directories and config files that are not under this server's control.
      openWorldHint: true,
    },
    input: INPUT,
    output: OUTPUT,
    run: async ({ directory }) => {
      const allowed = await resolveAllowedDirectory(access, 'directory', directory);
      if (!allowed.ok) return allowed;
      const config = await configs.find(allowed.value, await access.current());
      const isKept = session.setDirectory(directory);
      const project = config?.project.ok === true ? config.project.value : null;
      const error = config?.project.ok === false ? config.project.error : null;
      const structured = {
        session_id: session.id,
        working_directory: directory,
        config_found: config !== undefined,
        config_path: config?.path ?? null,
        project_info: project && { name: project.name, id: project.id },
        project_id: project?.projectId ?? null,
        config_error: error,
      };
      const found = foundText({ path: config?.path, project, error });
      return ok({ structured, text: `${keptText(isKept, directory, project)} ${found}` });
    },
  });
}

function keptText(isKept: boolean, directory: string, project: ConfiguredProject | null): string {
  if (isKept) return `Working directory: ${JSON.stringify(directory)}.`;
  const next =
    project === null
      ? 'Calls without a project_id use the project "default".'
      : `Pass project_id ${JSON.stringify(project.projectId)} with each call.`;
  return `Nothing was set: this connection is stateless, so no directory is kept between calls. ${next}`;
}

function foundText({
  path,
  project,
  error,
}: {
  readonly path: string | undefined;
  readonly project: ConfiguredProject | null;
  readonly error: string | null;
}): string {
  if (path === undefined) return 'No .codebase-mcp/config.json was found, so the project "default" is used.';
  const shown = JSON.stringify(path);
  return project === null
    ? `The config file ${shown} is invalid: ${error ?? ''}. Fix it, or pass project_id.`
    : `Project ${JSON.stringify(project.name)} (id ${project.projectId}), from ${shown}.`;
}
