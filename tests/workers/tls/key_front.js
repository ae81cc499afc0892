// gRPC over plain HTTP/2 that passes on the requests of whoever has the API key, and refuses all others
// in the words of Temporal Cloud. Arguments: where to pass them on, the key, and whether a client's first
// request is passed on of anybody. Prints its port.
const http2 = require('node:http2')

const [backend, key, greets] = process.argv.slice(2)
const behind = http2.connect(`http://${backend}`)
const front = http2.createServer()

const refusal = {
  ':status': 200,
  'content-type': 'application/grpc',
  'grpc-status': '16',
  'grpc-message': 'Request unauthorized.',
}

front.on('stream', (asked, headers) => {
  const greeting = greets && headers[':path'].endsWith('/GetSystemInfo')
  if (!greeting && headers.authorization !== `Bearer ${key}`) {
    asked.respond(refusal, { endStream: true })
    return
  }
  const passed = behind.request(headers)
  let trailers = {}
  passed.on('response', (answer) => asked.respond(answer, { waitForTrailers: true }))
  passed.on('trailers', (given) => { trailers = given })
  asked.on('wantTrailers', () => asked.sendTrailers(trailers))
  asked.pipe(passed).pipe(asked)
})
front.listen(0, '127.0.0.1', () => console.log(front.address().port))
