// An agent on the SDK's experimental v2 API, for what the SDK's own example does not do: permission, tool calls, terminals.
//   node ts-agent.mjs SDK          SDK is an alias of package.json: sdk-1.3.0, sdk-2.4.0
// The prompt's text says what a turn does: "wait" prints something and waits to be cancelled, any other text goes through
// everything: asks for permission, runs a tool, shows a terminal, says something (see work.py).
import { Readable, Writable } from "node:stream";

const sdk = process.argv[2];
const v2 = await import(`${sdk}/experimental/v2`);
const m = v2.methods;
const sessions = new Map();
const CUTS = [1, 2, 3, 1000, 4096, 65536];

// The same bytes as work.pattern() has.
const pattern = (size, start) => Buffer.from(Uint8Array.from({ length: size }, (_, i) => ((i + start) * (i + start + 7)) % 251));

function sessionOf(params) {
  const session = sessions.get(params.sessionId);
  if (!session) throw v2.RequestError.invalidParams({ sessionId: params.sessionId });
  return session;
}

function aborted(signal) {
  return new Promise((_, reject) => {
    const stop = () => reject(new DOMException("cancelled", "AbortError"));
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
}

function question(sessionId) {
  return {
    sessionId,
    title: "May I?",
    subject: { type: "tool_call", toolCall: { toolCallId: "call-1", title: "Count", kind: "execute", status: "pending" } },
    options: [
      { optionId: "yes", name: "Yes", kind: "allow_once" },
      { optionId: "no", name: "No", kind: "reject_once" },
    ],
  };
}

async function wait(update, signal) {
  await update({ sessionUpdate: "terminal_output_chunk", terminalId: "term-0", data: Buffer.from("waiting").toString("base64") });
  await aborted(signal);
}

async function work(update, client, sessionId, signal) {
  await update({ sessionUpdate: "tool_call_update", toolCallId: "call-1", title: "Count", kind: "execute", status: "pending" });
  const ask = m.client.session.requestPermission;
  const { outcome } = await client.request(ask, question(sessionId), { cancellationSignal: signal });
  if (outcome.outcome !== "selected" || outcome.optionId !== "yes") return "refusal";
  const terminalId = "term-1";
  await update({ sessionUpdate: "terminal_update", terminalId, command: "count", cwd: "/" });
  await update({ sessionUpdate: "tool_call_update", toolCallId: "call-1", content: [{ type: "terminal", terminalId }] });
  let start = 0;
  for (const size of CUTS) {
    await update({ sessionUpdate: "terminal_output_chunk", terminalId, data: pattern(size, start).toString("base64") });
    start += size;
  }
  await update({ sessionUpdate: "terminal_update", terminalId, exitStatus: { exitCode: 0 } });
  await update({ sessionUpdate: "tool_call_update", toolCallId: "call-1", status: "completed" });
  for (const text of ["Counted", " ", "ünïcödé 🎉\u2028"]) {
    await update({ sessionUpdate: "agent_message_chunk", messageId: "agent-1", content: { type: "text", text } });
  }
  return "end_turn";
}

async function turn(session, sessionId, messageId, prompt, client) {
  const signal = session.turn.signal;
  const update = (update) => {
    if (update.sessionUpdate !== "state_update") session.history.push(update);
    return client.notify(m.client.session.update, { sessionId, update });
  };
  await update({ sessionUpdate: "user_message", messageId, content: prompt });
  await update({ sessionUpdate: "state_update", state: "running" });
  let stopReason = "cancelled";
  try {
    if (prompt[0].text === "wait") await wait(update, signal);
    else stopReason = await work(update, client, sessionId, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  session.turn = undefined;
  await update({ sessionUpdate: "state_update", state: "idle", stopReason });
}

const app = v2
  .agent({ name: "interop" })
  .onRequest(m.agent.initialize, () => ({
    protocolVersion: 2,
    info: { name: "interop", version: "1" },
    capabilities: { session: {} },
  }))
  .onRequest(m.agent.session.new, () => {
    const sessionId = `s-${sessions.size}`;
    sessions.set(sessionId, { history: [] });
    return { sessionId };
  })
  .onRequest(m.agent.session.list, () => ({ sessions: [...sessions.keys()].map((sessionId) => ({ sessionId, cwd: "/" })) }))
  .onRequest(m.agent.session.prompt, ({ params, client }) => {
    const session = sessionOf(params);
    session.turn = new AbortController();
    const messageId = `user-${session.history.length}`;
    setTimeout(() => turn(session, params.sessionId, messageId, params.prompt, client), 0);
    return { messageId };
  })
  .onNotification(m.agent.session.cancel, ({ params }) => sessionOf(params).turn?.abort())
  .onRequest(m.agent.session.resume, async ({ params, client }) => {
    const { sessionId, replayFrom } = params;
    for (const update of replayFrom ? sessionOf(params).history : []) {
      await client.notify(m.client.session.update, { sessionId, update });
    }
    return {};
  })
  .onRequest(m.agent.session.close, ({ params }) => {
    sessionOf(params);
    sessions.delete(params.sessionId);
    return {};
  })
  .onRequest("_interop/wait", (params) => params, ({ signal }) => {
    console.error("waiting");
    return aborted(signal);
  })
  .onRequest("_interop/batch", (params) => params, async ({ params: { sessionId }, client }) => {
    const update = { sessionUpdate: "state_update", state: "requires_action" };
    const [, first, , second] = await client.batch([
      v2.batchNotification(m.client.session.update, { sessionId, update }),
      v2.batchRequest(m.client.session.requestPermission, question(sessionId)),
      v2.batchNotification(m.client.session.update, { sessionId, update: { ...update, state: "running" } }),
      v2.batchRequest(m.client.session.requestPermission, question(sessionId)),
    ]);
    return { first, second };
  })
  .onRequest("_interop/noise", (params) => params, ({ params }) => {
    for (let i = 0; i < params.lines; i++) process.stderr.write(`noise ${i} ${"#".repeat(1000)}\n`);
    return { lines: params.lines };
  })
  .onRequest("_interop/exit", (params) => params, ({ params }) => {
    console.error("giving up");
    process.exit(params.code);
  });

app.connect(v2.ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));
