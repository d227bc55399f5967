// Reads lines of {definition, value} and answers each with what the zod schemas of npm's 1.3.0 make of it:
// {accept: true, value} or {accept: false, why}.
import { createInterface } from "node:readline";
import * as schemas from "../interop/node_modules/sdk-1.3.0/dist/v2/schema/zod.gen.js";

const answers = [];
for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
  const { definition, value } = JSON.parse(line);
  answers.push(JSON.stringify(judged(schemas[`z${definition}`], value)));
  if (answers.length === 500) flush();
}
flush();

function judged(schema, value) {
  if (!schema) return { accept: null };
  const { success, data, error } = schema.safeParse(value);
  return success ? { accept: true, value: data } : { accept: false, why: error.issues.map(brief) };
}

function brief({ code, path, message }) {
  return `${path.join(".")}: ${code}: ${message}`;
}

function flush() {
  if (answers.length) process.stdout.write(answers.join("\n") + "\n");
  answers.length = 0;
}
