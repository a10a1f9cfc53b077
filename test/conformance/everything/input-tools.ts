import {
  inputRequired,
  inputResponse,
  type CallToolResult,
  type ClientCapabilities,
  type InputRequest,
  type InputRequiredResult,
  type McpServer,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { formOf, messageOf } from './asking-tools.ts';
import { fieldForm } from './forms.ts';
import { sealState, type CallState } from './sealed-state.ts';

type Result = CallToolResult | InputRequiredResult;
type Questions = Readonly<Record<string, InputRequest>>;

const NAME = (): InputRequest => formOf('What is your name?', fieldForm('name'));
const CONFIRMATION = (): InputRequest => formOf('Please confirm', fieldForm('ok', 'boolean'));

/** Tools for the rules of `input_required` (2026-07-28, basic/patterns/mrtr). */
export function offerInputTools(server: McpServer): void {
  offer(server, 'elicitation', (context) => {
    const name = acceptedText(context, 'user_name', 'name');
    return name === undefined ? ask({ user_name: NAME() }) : done(`Hello, ${name}!`);
  });
  offer(server, 'sampling', (context) =>
    askOnce(context, {
      capital_question: inputRequired.createMessage(messageOf('What is the capital of France?', 100)),
    }),
  );
  offer(server, 'list_roots', (context) => askOnce(context, { client_roots: inputRequired.listRoots() }));
  offer(server, 'request_state', (context) => askWithState(context, { confirm: CONFIRMATION() }));
  offer(server, 'tampered_state', (context) => askWithState(context, { confirm: CONFIRMATION() }));
  offer(server, 'multiple_inputs', (context) =>
    askWithState(context, {
      user_name: NAME(),
      greeting: inputRequired.createMessage(messageOf('Generate a greeting', 50)),
      client_roots: inputRequired.listRoots(),
    }),
  );
  offer(server, 'multi_round', inRounds);
  offer(server, 'capabilities', (context) =>
    askOnce(context, questionsFor(server.server.getClientCapabilities() ?? {})),
  );
}

function offer(
  server: McpServer,
  name: string,
  handle: (context: ServerContext) => Result | Promise<Result>,
): void {
  server.registerTool(
    `test_input_required_result_${name}`,
    { description: 'Needs an answer of its client before it can answer itself.' },
    handle,
  );
}

function askOnce(context: ServerContext, questions: Questions): Result {
  return areAnswered(context, questions) ? done(answersOf(context)) : ask(questions);
}

/** Answers only a retry that brings back the state, too. */
async function askWithState(context: ServerContext, questions: Questions): Promise<Result> {
  const state = context.mcpReq.requestState<CallState>();
  if (state !== undefined && areAnswered(context, questions)) return done(`state-ok ${answersOf(context)}`);
  return inputRequired({ inputRequests: questions, requestState: await sealState({ step: 1 }) });
}

const ROUNDS = [
  { step1: formOf('Step 1: What is your name?', fieldForm('name')) },
  { step2: formOf('Step 2: What is your favorite color?', fieldForm('color')) },
];

/** The state contains the last question. */
async function inRounds(context: ServerContext): Promise<Result> {
  const asked = context.mcpReq.requestState<CallState>()?.step ?? 0;
  const last = ROUNDS[asked - 1];
  const step = last === undefined || areAnswered(context, last) ? asked + 1 : asked;
  const next = ROUNDS[step - 1];
  if (next === undefined) return done('Both rounds are over.');
  return inputRequired({ inputRequests: next, requestState: await sealState({ step }) });
}

/** Nothing that the client cannot answer. */
function questionsFor({ elicitation, sampling }: ClientCapabilities): Questions {
  return {
    ...(elicitation === undefined ? {} : { name: NAME() }),
    ...(sampling === undefined
      ? {}
      : { greeting: inputRequired.createMessage(messageOf('Generate a greeting', 50)) }),
  };
}

function areAnswered({ mcpReq }: ServerContext, questions: Questions): boolean {
  return Object.keys(questions).every((key) => inputResponse(mcpReq.inputResponses, key).kind !== 'missing');
}

function answersOf({ mcpReq }: ServerContext): string {
  return JSON.stringify(mcpReq.inputResponses ?? {});
}

function acceptedText({ mcpReq }: ServerContext, key: string, field: string): string | undefined {
  const view = inputResponse(mcpReq.inputResponses, key);
  const value = view.kind === 'elicit' && view.action === 'accept' ? view.content?.[field] : undefined;
  return typeof value === 'string' ? value : undefined;
}

function ask(questions: Questions): InputRequiredResult {
  return inputRequired({ inputRequests: questions });
}

function done(text: string): CallToolResult {
  return { content: [{ type: 'text', text }] };
}
