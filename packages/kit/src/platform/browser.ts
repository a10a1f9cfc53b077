import process from 'node:process';

/** Whether a browser opened on this machine would be visible to the user at the terminal. */
export function hasBrowser(): boolean {
  const { env, platform } = process;
  if (env['SSH_CONNECTION'] !== undefined || env['CI'] !== undefined) return false;
  return platform !== 'linux' || env['DISPLAY'] !== undefined || env['WAYLAND_DISPLAY'] !== undefined;
}

/** Opens an address in the user's browser. Returns false if that could not be attempted. */
export async function openBrowser(address: string): Promise<boolean> {
  try {
    const { default: open } = await import('open');
    const child = await open(address);
    child.on('error', () => undefined);
    child.unref();
    return true;
  } catch {
    return false;
  }
}
