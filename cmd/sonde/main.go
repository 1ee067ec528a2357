// Command sonde is an OTLP collector that agents can ask.
package main

func main() {}
