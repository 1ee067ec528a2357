package receiver

// ServerOptions lets a benchmark serve something else with the same settings.
var ServerOptions = (*Receiver).serverOptions
