// A client on the SDK's experimental v2 API. It starts an agent, goes through a scenario and prints what it saw, one JSON object a line.
//   node ts-client.mjs SDK SCENARIO AGENT...       SDK is an alias of package.json: sdk-1.3.0, sdk-2.4.0
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { Readable, Writable } from "node:stream";

const [sdk, scenario, command, ...args] = process.argv.slice(2);
const v2 = await import(`${sdk}/experimental/v2`);
const m = v2.methods;
const cwd = process.cwd();

const say = (step, what = {}) => console.log(JSON.stringify({ step, ...what }));
const text = (words) => [{ type: "text", text: words }];

// Runs something that may fail, and says which.
async function attempt(step, promise) {
  try {
    const result = await promise;
    say(step, { result });
    return result;
  } catch (error) {
    say(step, { error: { name: error.name, code: error.code ?? null, message: String(error.message).slice(0, 300) } });
  }
}

// Everything that came, in order; until() also finds what came before it was called.
class Updates {
  all = [];
  waiting = new Set();

  add(update) {
    this.all.push(update);
    for (const check of this.waiting) check();
  }

  until(wanted, since) {
    return new Promise((resolve) => {
      const check = () => {
        const found = this.all.slice(since).find(wanted);
        if (!found) return;
        this.waiting.delete(check);
        resolve(found);
      };
      this.waiting.add(check);
      check();
    });
  }
}

const idle = (update) => update.state === "idle";
const isChunk = (update) => update.sessionUpdate === "terminal_output_chunk";
const updates = new Updates();
let onPermission = (params) => ({ outcome: "selected", optionId: params.options.find((o) => o.kind === "allow_once").optionId });

// The order of the wire; the SDK's own order of answers and notifications is not that of the wire.
const wire = [];
function tap() {
  let rest = "";
  const decoder = new TextDecoder();
  return new TransformStream({
    transform(chunk, controller) {
      rest += decoder.decode(chunk, { stream: true });
      const lines = rest.split("\n");
      rest = lines.pop();
      for (const line of lines) wire.push(...[JSON.parse(line)].flat().map(summary), ...(line.startsWith("[") ? ["array"] : []));
      controller.enqueue(chunk);
    },
  });
}
const summary = (message) => message.params?.update?.sessionUpdate ?? message.method ?? `answer ${message.id}`;

const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
const exited = new Promise((resolve) => child.once("exit", (code, signal) => resolve({ code, signal })));
const connection = v2
  .client({ name: "interop" })
  .onNotification(m.client.session.update, ({ params }) => updates.add(params.update))
  .onRequest(m.client.session.requestPermission, async (context) => {
    say("permission", { params: context.params });
    return { outcome: await onPermission(context.params, context) };
  })
  .connect(v2.ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout).pipeThrough(tap())));
const agent = connection.agent;

const initialize = () =>
  attempt("initialize", agent.request(m.agent.initialize, { protocolVersion: 2, info: { name: "interop", version: "1" }, capabilities: {} }));

const newSession = async () => (await attempt("new", agent.request(m.agent.session.new, { cwd }))).sessionId;

// The answer to a prompt may be refused by this SDK (see the tests); the turn goes on all the same.
async function turn(step, sessionId, words) {
  const since = updates.all.length;
  await attempt(`${step} answered`, agent.request(m.agent.session.prompt, { sessionId, prompt: text(words) }));
  return since;
}

async function over(step, since) {
  const { stopReason } = await updates.until(idle, since);
  const seen = updates.all.slice(since);
  const hash = createHash("sha256");
  const chunks = seen.filter(isChunk).map((update) => Buffer.from(update.data, "base64"));
  for (const chunk of chunks) hash.update(chunk);
  const kinds = seen.map((update) => update.sessionUpdate);
  say(step, { stopReason, kinds, sizes: chunks.map((chunk) => chunk.length), sha256: hash.digest("hex") });
}

const scenarios = {
  // A turn with the prompt WORK_TEXT ends by itself, one with WAIT_TEXT shows some output and goes on until it is cancelled.
  async conversation() {
    await initialize();
    const sessionId = await newSession();
    await over("work", await turn("work", sessionId, process.env.WORK_TEXT));

    const since = await turn("wait", sessionId, process.env.WAIT_TEXT);
    await updates.until(isChunk, since);
    await agent.notify(m.agent.session.cancel, { sessionId });
    await over("wait", since);

    const allow = onPermission;
    onPermission = async () => {
      await agent.notify(m.agent.session.cancel, { sessionId });
      return { outcome: "cancelled" };
    };
    await over("ask", await turn("ask", sessionId, process.env.WORK_TEXT));
    onPermission = allow;

    const before = wire.length;
    await attempt("resume", agent.request(m.agent.session.resume, { sessionId, cwd, replayFrom: { type: "start" } }));
    say("replay", { wire: wire.slice(before) });
    await attempt("close", agent.request(m.agent.session.close, { sessionId }));
    await attempt("after close", agent.request(m.agent.session.prompt, { sessionId, prompt: text("true") }));
    await attempt("unknown method", agent.request("_interop/unknown", {}));
  },

  // A request is given up; giving up one that is answered already, or that never was, has no consequence.
  async cancelRequest() {
    await initialize();
    const abort = new AbortController();
    const waiting = agent.request("_interop/wait", {}, { cancellationSignal: abort.signal });
    await updates.until((update) => update.sessionUpdate === "_interop_waiting", 0);
    abort.abort();
    await attempt("wait", waiting);
    await agent.notify(m.protocol.cancelRequest, { requestId: 0 });
    await agent.notify(m.protocol.cancelRequest, { requestId: "never sent" });
    await attempt("list", agent.request(m.agent.session.list, {}));
  },

  // Goes on for ever.
  async hold() {
    await initialize();
    const since = await turn("wait", await newSession(), process.env.WAIT_TEXT);
    const { data } = await updates.until(isChunk, since);
    say("holding", { agent: child.pid, output: Buffer.from(data, "base64").toString() });
    await new Promise(() => {});
  },

  // Only 1.3.0 sends batches.
  async batch() {
    await initialize();
    const before = wire.length;
    const { batchNotification, batchRequest } = v2;
    const [first, , second] = await agent.batch([
      batchRequest(m.agent.session.list, {}),
      batchNotification("_interop/note", {}),
      batchRequest("_interop/echo", { n: 1 }),
    ]);
    say("batch", { first, second, wire: wire.slice(before) });
    const quiet = wire.length;
    await agent.batch([batchNotification("_interop/note", {})]);
    await attempt("list", agent.request(m.agent.session.list, {}));
    say("quiet", { wire: wire.slice(quiet) });
  },
};

setTimeout(() => process.exit(9), 50_000).unref(); // whatever is waited for and does not come
await scenarios[scenario]();
child.stdin.end();
say("exit", await exited);
connection.close();
