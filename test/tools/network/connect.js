// Tells as JSON which of the attempts "SOURCE>HOST:PORT" of the command line reached a listener within 0.7 s.
const { connect } = require('node:net');

const attempt = (text) =>
  new Promise((resolve) => {
    const [localAddress, target] = text.split('>');
    const [host, port] = target.split(':');
    const socket = connect({ host, port: Number(port), localAddress, timeout: 700 });
    const end = (answer) => {
      socket.destroy();
      resolve([text, answer]);
    };
    socket.on('connect', () => end('connected'));
    socket.on('timeout', () => end('no answer'));
    socket.on('error', ({ code }) => end(code));
  });

Promise.all(process.argv.slice(2).map(attempt)).then((answers) =>
  console.log(JSON.stringify(Object.fromEntries(answers))),
);
