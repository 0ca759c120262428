// Connects with godbus to the address of the argument, and prints the id of the bus.
package main

import (
	"fmt"
	"log"
	"os"

	"github.com/godbus/dbus/v5"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: get-id-godbus ADDRESS")
	}
	bus, err := dbus.Connect(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	defer bus.Close()
	var id string
	if err := bus.BusObject().Call("org.freedesktop.DBus.GetId", 0).Store(&id); err != nil {
		log.Fatal(err)
	}
	fmt.Println(id)
}
