import { send, type Answer } from './http.ts';

/** Simulates a user in a browser: signs in, consents, and returns the final address without opening it. */
export async function browse(address: string, user = 'somebody'): Promise<string> {
  const cookies = new Map<string, string>();
  const visit = async (url: string, form?: Readonly<Record<string, string>>): Promise<Answer> => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await send(url, {
      method: form === undefined ? 'GET' : 'POST',
      headers: {
        ...(cookie !== '' && { cookie }),
        ...(form !== undefined && { 'content-type': 'application/x-www-form-urlencoded' }),
      },
      ...(form !== undefined && { body: new URLSearchParams(form).toString() }),
    });
    for (const given of answer.headers['set-cookie'] ?? []) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(given) ?? [];
      if (value === '') cookies.delete(name);
      else cookies.set(name, value);
    }
    return answer;
  };
  let url = address;
  let answer = await visit(url);
  for (let steps = 0; steps < 20; steps += 1) {
    const { location } = answer.headers;
    if (location !== undefined) {
      url = new URL(location, url).href;
      if (new URL(url).pathname === '/callback') return url;
      answer = await visit(url);
      continue;
    }
    const prompt = /name="prompt" value="(\w+)"/.exec(answer.text)?.[1];
    if (prompt === undefined) throw new Error(`No form at ${url} (HTTP ${answer.status}): ${answer.text}`);
    const action = /action="([^"]+)"/.exec(answer.text)?.[1] ?? url;
    answer = await visit(new URL(action, url).href, { prompt, login: user, password: 'p' });
  }
  throw new Error(`The browser goes round in a circle at ${url}`);
}
