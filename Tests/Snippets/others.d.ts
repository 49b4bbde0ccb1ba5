// What the pages and the shops use of modules that are not on every machine, in a few lines: those
// of Node.js, whose own declarations may be older than the module, Fastify, and Apple's library.

declare module "node:*";
declare module "@apple/app-store-server-library";
declare module "pg";
declare const process: any;
declare const Buffer: any;
type Buffer = any;

declare module "node:http" {
  export interface IncomingMessage extends AsyncIterable<Buffer> {
    readonly method?: string;
    readonly url?: string;
    readonly headers: { readonly [name: string]: string | undefined };
  }
  export interface ServerResponse {
    writeHead(status: number, headers?: { readonly [name: string]: string }): this;
    end(text?: string | Buffer): this;
  }
  export function createServer(
    listener: (request: IncomingMessage, response: ServerResponse) => void): any;
}

declare module "fastify" {
  interface Request {
    readonly body: unknown;
    readonly headers: { readonly authorization?: string };
  }
  interface Reply {
    code(status: number): this;
    headers(headers: { readonly [name: string]: string }): this;
    send(body: unknown): this;
  }
  interface Instance {
    post(path: string, options: { schema: { body: object } },
      handler: (request: Request, reply: Reply) => Promise<unknown>): this;
    listen(options: { port: number; host: string }): Promise<string>;
  }
  export default function fastify(options: { bodyLimit?: number; logger?: { level: string };
    ajv?: { customOptions: { coerceTypes: boolean } } }): Instance;
}
