// JSON.parse of Node as a program that stays open: one JSON string per line in, true or false per line out.
import { createInterface } from "node:readline";

for await (const line of createInterface({ input: process.stdin })) {
    let valid = true;
    try {
        JSON.parse(JSON.parse(line));
    } catch {
        valid = false;
    }
    process.stdout.write(`${valid}\n`);
}
